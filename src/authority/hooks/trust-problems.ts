import { type ConfigProblem, type LoadedConfig, type MergedHooks, shellWord } from '../../config/index.js'
import { hookHash, trustOf } from './trust.js'

/** The same configuration, its hooks that wait for the user's trust among its problems. */
export function withTrustProblems(loaded: LoadedConfig): LoadedConfig {
  return { ...loaded, problems: [...loaded.problems, ...trustProblems(loaded.hooks)] }
}

/** A warning for each hook of a file that does not run until the user trusts it, with what to write for that. */
export function trustProblems({ entries, states }: MergedHooks): readonly ConfigProblem[] {
  return entries.flatMap((entry) => {
    const hash = hookHash(entry)
    const trust = trustOf(entry, hash, states.get(entry.key))
    if (trust !== 'untrusted' && trust !== 'modified') return []
    const { key, origin } = entry
    const why = trust === 'modified' ? 'is not the one that was trusted' : 'is not trusted'
    const where = origin.layer === 'file' ? ` --config ${shellWord(origin.file)}` : ''
    const message = `this ${entry.event} hook ${why}, so it does not run; to trust it as it is: reeve${where} hooks trust ${shellWord(key)}, which notes ${hash}`
    const place = origin.line === undefined ? origin.file : `${origin.file}:${origin.line}`
    return [{ severity: 'warning' as const, code: `${trust}_hook`, message, place }]
  })
}
