import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClientHome } from './client-home.js'
import type { GatewayUnderTest } from './gateway-under-test.js'

/** The gateway as a server of Codex: the lines of `config.toml`. The token comes from the variable `REEVE_TOKEN`. */
export const CODEX_ENTRIES: Readonly<Record<string, (gateway: GatewayUnderTest) => string>> = {
  HTTP: ({ url }) => `url = ${quote(url)}\nbearer_token_env_var = "REEVE_TOKEN"`,
  stdio: ({ stdio: { command, args } }) => `command = ${quote(command)}\nargs = [${args.map(quote).join(', ')}]`,
}

/** The lines of a `config.toml` that give Codex a model at `url`. Where no test asks the model, nothing is there. */
export function codexModel(url = 'http://127.0.0.1:9'): string {
  return `model = "gpt-5.4"
model_provider = "standin"
[model_providers.standin]
name = "standin"
base_url = ${quote(`${url}/v1`)}
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
`
}

/** Writes a `config.toml` with the gateway and a model at `modelUrl`, and gives the environment for Codex. */
export async function codexHome(
  home: ClientHome,
  { entry, modelUrl, token }: { readonly entry: string; readonly modelUrl: string; readonly token: string },
): Promise<Readonly<Record<string, string>>> {
  await writeFile(
    join(home.folder, 'config.toml'),
    `${codexModel(modelUrl)}[mcp_servers.reeve]
${entry}
`,
  )
  return { ...home.env, CODEX_HOME: home.folder, REEVE_TOKEN: token }
}

/** A basic TOML string; JSON's escapes are a subset of its. */
function quote(text: string): string {
  return JSON.stringify(text)
}
