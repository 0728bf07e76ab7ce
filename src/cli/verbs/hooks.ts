import { Hooks } from '../../authority/index.js'
import { editing, type LoadedConfig, loadConfig, shellWord } from '../../config/index.js'
import { ReeveError } from '../../errors.js'
import type { Cli } from '../cli.js'
import { tellProblems } from '../configuring/configuration.js'
import { targetFile } from '../configuring/target.js'
import { oneLine } from '../printable.js'
import { hindrance, hookJson, placeOf, type ShownHook, showHooks } from '../showing/hook-list.js'
import { UsageError } from '../usage.js'

/**
 * `hooks [list] | trust HOOK | untrust HOOK`, of the configuration; starts nothing.
 *
 * @throws UsageError, ConfigError, ReeveError `unknown_hook`
 */
export async function run(cli: Cli, action: string | undefined, named: string | undefined): Promise<number> {
  switch (action) {
    case undefined:
    case 'list':
      if (named !== undefined) throw new UsageError("'hooks list' takes no hook")
      return list(cli)
    case 'trust':
    case 'untrust':
      if (named === undefined)
        throw new UsageError(`say which hook: reeve hooks ${action} NO, as 'reeve hooks' lists it`)
      return action === 'trust' ? trust(cli, named) : untrust(cli, named)
    default:
      throw new UsageError(`'hooks ${action}' is not known: list, trust or untrust`)
  }
}

/** 1 when part of the configuration is an error: there may be hooks that nobody could read. */
async function list(cli: Cli): Promise<number> {
  const loaded = await load(cli)
  const hooks = hooksOf(loaded)
  if (cli.json) cli.out.json(hooks.map(hookJson))
  else if (hooks.length === 0) cli.err.line('no hooks are configured')
  else showHooks(cli, hooks)
  return tellProblems(cli, loaded)
}

/** Exactly this hook, as it is now: any change of it makes another. */
async function trust(cli: Cli, named: string): Promise<number> {
  const hook = await find(cli, named)
  const { listing, entry } = hook
  if (entry.handler.type === 'broken')
    throw new ReeveError('broken_hook', `this hook can't be trusted: ${entry.handler.reason}`, {
      place: placeOf(entry.origin),
    })
  const isOwn = entry.origin.layer === 'user' && listing.trust !== 'modified'
  const change = { ...(!isOwn && { trusted_hash: listing.currentHash }), enabled: null }
  return tell(cli, hook, await noted(cli, hook, change), 'trusted')
}

/** What stands in the user's own file is trusted as it stands: it is switched off. */
async function untrust(cli: Cli, named: string): Promise<number> {
  const hook = await find(cli, named)
  const change = hook.entry.origin.layer === 'user' ? { enabled: false } : { trusted_hash: null }
  return tell(cli, hook, await noted(cli, hook, change), 'untrusted')
}

async function noted(
  cli: Cli,
  { listing }: ShownHook,
  change: { readonly trusted_hash?: string | null; readonly enabled?: boolean | null },
): Promise<boolean> {
  const { setHookState } = await editing()
  return setHookState(targetFile(cli, {}), listing.key, change)
}

async function tell(cli: Cli, hook: ShownHook, changed: boolean, what: string): Promise<number> {
  const now = hooksOf(await load(cli)).find(({ listing }) => listing.key === hook.listing.key)
  if (cli.json) cli.out.json({ ...hookJson(now ?? hook), changed })
  else {
    const reason = now && hindrance(now.listing)
    const runs = reason === undefined ? 'it runs' : `it does not run: ${reason}`
    cli.out.line(oneLine(`${hook.listing.key} is ${what}${changed ? ' now' : ' already'}; ${runs}`))
  }
  return 0
}

function load({ home, cwd, env, configFiles }: Cli): Promise<LoadedConfig> {
  return loadConfig({ home, cwd, env, files: configFiles })
}

function hooksOf({ hooks }: LoadedConfig): readonly ShownHook[] {
  const entries = new Map([...(hooks.managed ?? []), ...hooks.entries].map((entry) => [entry.key, entry]))
  return new Hooks({ configured: hooks }).list.flatMap((listing, index) => {
    const entry = entries.get(listing.key)
    return entry === undefined ? [] : [{ number: index + 1, listing, entry }]
  })
}

async function find(cli: Cli, named: string): Promise<ShownHook> {
  const found = hooksOf(await load(cli)).find(
    ({ number, listing }) => named === listing.key || named === String(number),
  )
  if (found === undefined)
    throw new ReeveError('unknown_hook', `there is no hook ${shellWord(named)}; see 'reeve hooks'`)
  if (found.listing.trust !== 'managed') return found
  throw new ReeveError('managed_hook', `this hook is the administrator's: it runs whatever is said here`, {
    place: placeOf(found.entry.origin),
  })
}
