import { LOCAL_ENVIRONMENT, type ServerKey, sameKey } from '../../identity/index.js'
import { fileUriOf, type JsonObject } from '../../protocol/index.js'
import type { SelectedEnvironment, Thread } from '../../threads/index.js'

/**
 * Where a server runs: in the environment that its entry names, or that contributed it. `local` is the client's own machine
 * as far as the gateway knows.
 */
export function executionEnvironment(thread: Pick<Thread, 'servers'>, key: ServerKey): string {
  const row = thread.servers().find((server) => sameKey(server.key, key))
  return row?.executionEnvironment ?? key.environment ?? LOCAL
}

export function isElsewhere(thread: Pick<Thread, 'servers'>, key: ServerKey): boolean {
  return executionEnvironment(thread, key) !== LOCAL
}

/** Whether this side has a part in what a server asks: it names its environment, or answers for it. */
export function isMediated(thread: Pick<Thread, 'servers'>, key: ServerKey): boolean {
  return key.environment !== null || isElsewhere(thread, key)
}

/**
 * The answer to `roots/list` of a server that runs in another environment. The client's roots are folders of the client's
 * machine: there they would name nothing, or something else. What is selected there are the roots instead: the workspace
 * roots of the environment, or its working directory.
 */
export function rootsThere({ id, cwd, workspaceRoots }: SelectedEnvironment): JsonObject {
  const folders = workspaceRoots ?? (cwd === undefined ? [] : [cwd])
  const roots = folders.flatMap((folder) => {
    const uri = fileUriOf(folder, folder.startsWith('/') ? 'posix' : 'windows')
    return uri === undefined ? [] : { uri, name: `${lastPart(folder)} (${id})` }
  })
  return { roots }
}

const LOCAL: string = LOCAL_ENVIRONMENT

function lastPart(path: string): string {
  return path.split(/[/\\]/).findLast((part) => part !== '') ?? path
}
