import { isTable } from '../source/raw.js'
import { editConfigFile } from './edit-file.js'
import type { TomlEdit } from './toml-edit.js'

/** Members of `[hooks.state."<key>"]`; null takes one out, and what is absent stays as it is. */
export interface HookStateChange {
  readonly trusted_hash?: string | null
  readonly enabled?: boolean | null
}

/**
 * Changes what the user says of one hook.
 *
 * @returns whether the file was written
 * @throws ConfigError as `editConfigFile`
 */
export async function setHookState(file: string, key: string, change: HookStateChange): Promise<boolean> {
  return editConfigFile(file, ({ hooks }) => {
    const states = isTable(hooks) && isTable(hooks.state) ? hooks.state : {}
    const before = Object.hasOwn(states, key) ? states[key] : undefined
    return Object.entries(change).flatMap(([member, value]): TomlEdit[] => {
      const path = ['hooks', 'state', key, member]
      const now = isTable(before) ? before[member] : undefined
      if (value === null) return now === undefined ? [] : [{ kind: 'remove', path }]
      return now === value ? [] : [{ kind: 'set', path, value }]
    })
  })
}
