import { cn } from "./class-names";

export function Mark({ className }: { className?: string }) {
  return (
    <svg aria-hidden viewBox="0 0 32 32" className={cn("size-5", className)}>
      <rect width="32" height="32" rx="7" className="fill-accent" />
      <path d="M7 23v-8M13 23V9M19 23v-6M25 23V12" stroke="#fff" strokeWidth="3" strokeLinecap="round" />
    </svg>
  );
}
