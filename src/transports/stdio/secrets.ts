/**
 * The values in a server's environment that its error texts must not repeat: those whose name or shape says that they
 * are secret. Short ones are left out, they would blot out ordinary words.
 */
export function secretValues(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env)
    .filter(([name, value]) => value.length >= SHORTEST && (SECRET_NAME.test(name) || CREDENTIALS_IN_URL.test(value)))
    .map(([, value]) => value)
    .sort((a, b) => b.length - a.length)
}

const SHORTEST = 6
const SECRET_NAME = /key|token|secret|passw|passphrase|pwd|credential|auth|cookie|private|signature/i
const CREDENTIALS_IN_URL = /:\/\/[^/\s@]*:[^/\s@]+@/
