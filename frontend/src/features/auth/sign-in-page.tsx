import { Eye, EyeOff } from "lucide-react";
import { useId, useState, type ReactNode, type SyntheticEvent } from "react";
import { ApiError, explain } from "@/api/problem";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/input";
import { Mark } from "@/components/ui/mark";
import { Spinner } from "@/components/ui/spinner";
import { useMeta, useSignIn, type Credentials } from "./session";
import { checkCredentials, type CredentialProblems } from "./credential-checks";

export function SignInPage() {
  const [mode, setMode] = useState<"login" | "register">("login");
  const [typed, setTyped] = useState<Credentials>({ email: "", password: "" });
  const meta = useMeta();
  const registrationOpen = meta.data?.registration_open ?? true;
  const isNew = mode === "register";
  return (
    <div className="grid h-full overflow-y-auto lg:grid-cols-[minmax(0,1fr)_minmax(0,1.1fr)]">
      <main className="flex flex-col justify-center px-6 py-10">
        <div className="mx-auto w-full max-w-88">
          <div className="mb-8 flex items-center gap-2.5">
            <Mark className="size-7" />
            <span className="text-[17px] font-semibold tracking-tight">Analyst</span>
          </div>
          <h1 className="text-[22px] leading-8 font-semibold tracking-tight">
            {isNew ? "Create your account" : "Sign in"}
          </h1>
          <p className="mb-6 text-ink-2">
            {isNew ? "Your files and conversations stay on this installation." : "Go on where you left off."}
          </p>
          <CredentialsForm key={mode} mode={mode} typed={typed} onType={setTyped} />
          {registrationOpen ? (
            <p className="mt-6 text-sm text-ink-2">
              {isNew ? "Already have an account?" : "New here?"}{" "}
              <button
                type="button"
                className="rounded-sm font-medium text-accent-ink underline-offset-2 hover:underline"
                onClick={() => setMode(isNew ? "login" : "register")}
              >
                {isNew ? "Sign in instead" : "Create account"}
              </button>
            </p>
          ) : (
            <p className="mt-6 text-sm text-ink-3">
              This installation takes no new accounts. Ask its operator for one.
            </p>
          )}
        </div>
      </main>
      <Illustration />
    </div>
  );
}

interface CredentialsFormProps {
  mode: "login" | "register";
  typed: Credentials;
  onType: (typed: Credentials) => void;
}

function CredentialsForm({ mode, typed, onType }: CredentialsFormProps) {
  const signIn = useSignIn(mode);
  const { email, password } = typed;
  const [shown, setShown] = useState(false);
  const [problems, setProblems] = useState<CredentialProblems>({});
  const isNew = mode === "register";

  function submit(event: SyntheticEvent) {
    event.preventDefault();
    const found = checkCredentials({ email, password }, isNew);
    setProblems(found);
    if (!found.email && !found.password) signIn.mutate({ email: email.trim(), password });
  }

  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      <Field label="Email" problem={problems.email}>
        {(props) => (
          <Input
            {...props}
            type="email"
            name="email"
            autoComplete="username"
            inputMode="email"
            spellCheck={false}
            value={email}
            onChange={(event) => onType({ ...typed, email: event.target.value })}
          />
        )}
      </Field>
      <Field label="Password" problem={problems.password} hint={isNew ? "At least 8 characters." : undefined}>
        {(props) => (
          <div className="relative">
            <Input
              {...props}
              type={shown ? "text" : "password"}
              name="password"
              autoComplete={isNew ? "new-password" : "current-password"}
              className="pr-10"
              value={password}
              onChange={(event) => onType({ ...typed, password: event.target.value })}
            />
            <button
              type="button"
              aria-label={shown ? "Hide what you typed" : "Show what you typed"}
              aria-pressed={shown}
              onClick={() => setShown(!shown)}
              className="absolute inset-y-0 right-0 grid w-9 place-items-center rounded-md text-ink-3 hover:text-ink"
            >
              {shown ? <EyeOff aria-hidden className="size-4" /> : <Eye aria-hidden className="size-4" />}
            </button>
          </div>
        )}
      </Field>
      {signIn.isError && <SignInError error={signIn.error} />}
      <Button type="submit" variant="primary" disabled={signIn.isPending}>
        {signIn.isPending && <Spinner className="text-on-accent" />}
        {isNew ? "Create account" : "Sign in"}
      </Button>
    </form>
  );
}

function SignInError({ error }: { error: unknown }) {
  const { happened, todo, requestId } = explain(error);
  const expected = error instanceof ApiError && error.status < 500;
  return (
    <div role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
      {happened} {!expected && <span className="text-ink-2">{todo}</span>}
      {!expected && requestId && <span className="block font-mono text-xs text-ink-3">Request {requestId}</span>}
    </div>
  );
}

interface ControlProps {
  id: string;
  "aria-invalid": boolean;
  "aria-describedby": string | undefined;
}

interface FieldProps {
  label: string;
  problem: string | undefined;
  hint?: string | undefined;
  children: (props: ControlProps) => ReactNode;
}

function Field({ label, problem, hint, children }: FieldProps) {
  const id = useId();
  const note = problem ?? hint;
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        {label}
      </label>
      {children({ id, "aria-invalid": problem !== undefined, "aria-describedby": note ? `${id}-note` : undefined })}
      {note && (
        <p id={`${id}-note`} className={problem ? "mt-1 text-sm text-bad" : "mt-1 text-sm text-ink-3"}>
          {note}
        </p>
      )}
    </div>
  );
}

const BARS = [34, 41, 38, 52, 57, 49, 63, 70, 66, 81, 92, 100];

/** What the product does, in one picture: a question, what was run, the finding with its chart. */
function Illustration() {
  return (
    <aside aria-hidden className="hidden items-center justify-center border-l bg-rail p-12 lg:flex">
      <div className="w-full max-w-md">
        <p className="ml-auto w-fit rounded-xl rounded-br-sm bg-hover px-3.5 py-2">How did revenue develop this year?</p>
        <div className="mt-6 space-y-1 text-sm text-ink-3">
          <p>
            Read <span className="text-ink-2">sales.csv</span>
          </p>
          <p>
            Ran Python <span className="text-ink-2">revenue_by_month.py</span>
          </p>
        </div>
        <p className="mt-4 text-[15px]">
          Revenue almost tripled, from <strong className="tabular">34 k</strong> in January to{" "}
          <strong className="tabular">100 k</strong> in December.
        </p>
        <div className="mt-4 rounded-md border bg-raised p-4">
          <div className="flex h-32 items-end gap-2">
            {BARS.map((height, index) => (
              <div key={index} className="flex-1 rounded-t-[2px] bg-accent" style={{ height: `${height}%` }} />
            ))}
          </div>
          <div className="mt-2 flex justify-between border-t pt-2 text-xs text-ink-3">
            <span>Jan</span>
            <span>Jun</span>
            <span>Dec</span>
          </div>
        </div>
      </div>
    </aside>
  );
}
