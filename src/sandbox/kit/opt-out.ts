/** The value that switches a server's sandbox off. */
const OFF = 'off'

/**
 * The operator's own word that a server may run commands without a sandbox where a client sends none: because the server
 * stands in a container, say. It can only be had from {@link operatorOptOut}, never made from what a request says.
 */
export class OperatorOptOut {
  /** Of the variable that says so. */
  readonly name: string
  readonly #given = true

  private constructor(name: string) {
    this.name = name
    Object.freeze(this)
  }

  /** Also told from an object that only looks like one. */
  static isGiven(value: unknown): value is OperatorOptOut {
    return typeof value === 'object' && value !== null && #given in value && value.#given
  }

  static read(name: string, env: Readonly<Record<string, string | undefined>>): OperatorOptOut | undefined {
    return Object.hasOwn(env, name) && env[name] === OFF ? new OperatorOptOut(name) : undefined
  }
}

/**
 * Whether whoever started the server has set the variable `name` to `off`, exactly. The name is the server's own, so
 * that one server's operator answers for that server alone.
 *
 * @param name e.g. `SHELL_SERVER_SANDBOX`
 * @param env default: the variables of this process
 */
export function operatorOptOut(
  name: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): OperatorOptOut | undefined {
  return OperatorOptOut.read(name, env)
}
