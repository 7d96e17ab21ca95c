export interface CredentialProblems {
  email?: string;
  password?: string;
}

const MIN_PASSWORD_LENGTH = 8;

export function checkCredentials(
  { email, password }: { email: string; password: string },
  isNew: boolean,
): CredentialProblems {
  const problems: CredentialProblems = {};
  if (!email.trim()) problems.email = "Enter your email address.";
  else if (!/^\S+@\S+\.\S+$/.test(email.trim())) problems.email = "This does not look like an email address.";
  if (!password) problems.password = "Enter your password.";
  else if (isNew && password.length < MIN_PASSWORD_LENGTH) {
    problems.password = `Use at least ${MIN_PASSWORD_LENGTH} characters.`;
  }
  return problems;
}
