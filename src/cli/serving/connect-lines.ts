/** Where clients connect. */
export interface Endpoint {
  readonly url: string
  /** Absent with `--no-token`. */
  readonly token?: string
}

/** The variable that the printed commands take the token from, so that it stands on the screen once. */
const VARIABLE = 'REEVE_TOKEN'
const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0'

/**
 * The exact lines that connect a client, to be copied into a shell. The first sets the token where there is one.
 * @param platform decides between the syntax of POSIX shells and of PowerShell
 */
export function connectLines({ url, token }: Endpoint, platform: NodeJS.Platform = process.platform): string[] {
  const windows = platform === 'win32'
  const variable = windows ? `$env:${VARIABLE}` : `$${VARIABLE}`
  const header = token === undefined ? '' : ` --header "Authorization: Bearer ${variable}"`
  const codexToken = token === undefined ? '' : ` --bearer-token-env-var ${VARIABLE}`
  return [
    ...(token === undefined ? [] : [windows ? `${variable} = '${token}'` : `export ${VARIABLE}=${token}`]),
    `claude mcp add --scope user --transport http reeve ${url}${header}`,
    `codex mcp add reeve --url ${url}${codexToken}`,
    `npx ${INSPECTOR} --cli --transport http${header} --method tools/list ${url}`,
  ]
}
