import { ProtocolViolationError, RpcError } from '../../errors.js'
import { EXEC_CODES, EXEC_METHODS, type ExecPathStyle, fileUriOf } from '../../protocol/index.js'
import type { Environment } from '../environment.js'
import { type RootAnswer, rootAnswersOf } from './answers.js'
import { discoverRoot, type RootDiscovery, unreadableRoot } from './discover-root.js'
import { inParallel } from './in-parallel.js'
import type { Sight } from './sight.js'
import type { CapabilityRoot, DiscoveryProblem } from './types.js'

export interface DiscoverRootsOptions {
  /** Ask the executor for all of them at once, where it can. */
  readonly inOneRequest?: boolean
  /** As whom files are looked at; by default as one who may read all. In a sandbox the executor is always asked. */
  readonly sight?: Sight
  readonly signal?: AbortSignal
  /** Told of each root as soon as it is read: another may hang. */
  readonly onread: (root: CapabilityRoot, found: RootDiscovery) => void
  readonly onproblem: (problem: DiscoveryProblem) => void
}

/**
 * Reads several roots of one environment, some at the same time, with the same outcome either way: in one request to the
 * executor what that answers is checked as if it had been read; what it does not answer is read. Raises what `discoverRoot`
 * raises, after every other root was read.
 */
export async function discoverRoots(
  environment: Environment,
  roots: readonly CapabilityRoot[],
  { inOneRequest = false, sight = { is: 'open' }, signal, onread, onproblem }: DiscoverRootsOptions,
): Promise<void> {
  if (sight.is === 'closed') {
    onproblem(Object.freeze({ code: 'sandbox_unavailable', environment: environment.id, message: sight.reason }))
    return
  }
  // One that can't be reached is found out once, not by every root.
  const style = await environment.pathStyle()
  const answers =
    inOneRequest || sight.is === 'sandboxed'
      ? await askedFor(environment, roots, { style, sight, signal, onproblem })
      : new Map<CapabilityRoot, RootAnswer>()
  await inParallel(roots, async (root) => {
    const answer = answers.get(root)
    if (answer?.is === 'unreadable') return onread(root, unreadableRoot(root, answer.message))
    const prefetched = answer?.files
    onread(
      root,
      await discoverRoot(environment, root, {
        ...(sight.is === 'sandboxed' && { files: sight.files }),
        ...(signal && { signal }),
        ...(prefetched && { prefetched }),
      }),
    )
  })
}

/** Of one request (seen). */
const MOST_ROOTS = 128

interface Asking extends Pick<DiscoverRootsOptions, 'onproblem'> {
  readonly style: ExecPathStyle
  readonly sight: Sight
  readonly signal: AbortSignal | undefined
}

async function askedFor(
  environment: Environment,
  roots: readonly CapabilityRoot[],
  { style, sight, signal, onproblem }: Asking,
): Promise<ReadonlyMap<CapabilityRoot, RootAnswer>> {
  const answers = new Map<CapabilityRoot, RootAnswer>()
  if (environment.ask === undefined) return answers
  const sandbox = sight.is === 'sandboxed' ? sight.sandbox : null
  const askable = roots.flatMap((root) => {
    const uri = fileUriOf(root.path, style)
    return uri === undefined ? [] : [{ root, uri }]
  })
  try {
    for (let at = 0; at < askable.length; at += MOST_ROOTS) {
      const part = askable.slice(at, at + MOST_ROOTS)
      const params = { roots: part.map(({ root: { id }, uri }) => ({ id, path: uri, sandbox })) }
      const answer = await environment.ask(EXEC_METHODS.discoverV1, params, { ...(signal && { signal }) })
      const ids = part.map(({ root }) => root.id)
      for (const [index, one] of rootAnswersOf(answer, ids, style).entries()) {
        const asked = part[index]
        if (asked !== undefined) answers.set(asked.root, one)
      }
    }
    return answers
  } catch (error) {
    if (!(error instanceof RpcError || error instanceof ProtocolViolationError)) throw error
    // The method has no flag: real clients ask too, and small executors don't have it.
    if (error instanceof RpcError && error.rpcCode === EXEC_CODES.unknownMethod) return new Map()
    const message = `the plugins were read file by file: ${error.message}`
    onproblem(Object.freeze({ code: 'discovery_failed', environment: environment.id, message }))
    return new Map()
  }
}
