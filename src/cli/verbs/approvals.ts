import { join } from 'node:path'
import {
  type ApprovalSubject,
  type DurableApprovals,
  LOCAL_PRINCIPAL,
  type RememberedApproval,
} from '../../authority/index.js'
import { ReeveError } from '../../errors.js'
import { displayKey } from '../../identity/index.js'
import { openStore } from '../../store/index.js'
import { findTool } from '../calling/find-tool.js'
import type { Cli } from '../cli.js'
import { openHomeState } from '../home-state.js'
import { oneLine } from '../printable.js'
import { type EnvironmentOption, selectorOf } from '../selection.js'
import { withThread } from '../session.js'
import { keyColumns, keyMembers } from '../showing/server-names.js'
import { UsageError } from '../usage.js'

interface ApprovalsOptions extends EnvironmentOption {
  /** `revoke`: everything. */
  readonly all?: boolean
  /** Of everybody where it is not said; `allow`: of the local user. */
  readonly principal?: string
}

/** What calls were allowed for good: shows it, adds to it, takes from it. */
export async function run(
  cli: Cli,
  action: string,
  name: string | undefined,
  tool: string | undefined,
  options: ApprovalsOptions,
): Promise<number> {
  switch (action) {
    case 'export':
      cli.out.json(meantOnes(cli, name, tool, options).map(toJson))
      return 0
    case 'list':
      return list(cli, name, tool, options)
    case 'allow':
      if (name === undefined || tool === undefined) throw new UsageError('say what is allowed: NAME TOOL')
      return allow(cli, name, tool, options)
    case 'revoke':
      return revoke(cli, name, tool, options)
    default:
      throw new UsageError(`'approvals ${action}' is not known: list, export, allow or revoke`)
  }
}

function list(cli: Cli, name: string | undefined, tool: string | undefined, options: ApprovalsOptions): number {
  const approvals = meantOnes(cli, name, tool, options)
  if (cli.json) cli.out.json(approvals.map(toJson))
  else if (approvals.length === 0) cli.err.line('nothing is allowed for good')
  else showTable(cli, approvals)
  return 0
}

function meantOnes(
  cli: Cli,
  name: string | undefined,
  tool: string | undefined,
  options: ApprovalsOptions,
): readonly RememberedApproval[] {
  using store = openHomeState(cli)
  return (store?.approvals.list() ?? []).filter((approval) => isMeant(approval, name, tool, options))
}

/** For the tool and its server as they are now: a change of either asks again. */
function allow(cli: Cli, name: string, tool: string, options: ApprovalsOptions): Promise<number> {
  const selector = selectorOf(name, options)
  return withThread(cli, { only: [selector] }, async (thread) => {
    cli.err.progress(`starting ${oneLine(name)}`)
    const { key } = await thread.client(selector, { signal: cli.signal })
    findTool(await thread.step({ wait: 'all', signal: cli.signal }), key, tool)
    const target = { server: key.name, environment: key.environment, tool }
    const { subject, binding, demandedBy } = await thread.approvalOf(target, { signal: cli.signal })
    const approval: RememberedApproval = {
      subject,
      binding,
      origin: 'operator',
      givenAt: Date.now(),
      ...(options.principal !== undefined && { principal: options.principal }),
    }
    cli.err.clear()
    using store = openState(cli)
    store.approvals.put(approval)
    if (cli.json) cli.out.json(toJson(approval))
    else cli.out.line(`allowed ${shown(approval.subject)}, as it is now`)
    if (demandedBy.length > 0)
      cli.err.warn(
        `it does not count as long as requirements have each call asked about: ${oneLine(demandedBy.join(', '))}`,
      )
    return 0
  })
}

function revoke(cli: Cli, name: string | undefined, tool: string | undefined, options: ApprovalsOptions): number {
  if (name === undefined && options.all !== true) throw new UsageError('say what is revoked: NAME [TOOL], or --all')
  if (name !== undefined && options.all === true) throw new UsageError('--all goes without a NAME')
  using store = openHomeState(cli)
  const isToGo = (approval: RememberedApproval) => isMeant(approval, name, tool, options)
  const revoked = store === undefined ? [] : revokeEach(store.approvals, isToGo)
  if (cli.json) cli.out.json(revoked.map(toJson))
  else for (const { subject } of revoked) cli.out.line(`revoked ${shown(subject)}`)
  if (revoked.length === 0 && options.all === true) cli.err.line('nothing was allowed for good')
  if (revoked.length > 0 || options.all === true) return 0
  throw new ReeveError('unknown_approval', `nothing of '${name}${tool === undefined ? '' : `/${tool}`}' is allowed`)
}

function revokeEach(
  approvals: DurableApprovals,
  isMeant: (approval: RememberedApproval) => boolean,
): readonly RememberedApproval[] {
  return approvals
    .list()
    .filter((approval) => isMeant(approval) && approvals.revoke(approval.subject, approval.principal))
}

/** A name alone means the servers of that name everywhere. */
function isMeant(
  { subject: { key, tool: itsTool }, principal: whose = LOCAL_PRINCIPAL }: RememberedApproval,
  name: string | undefined,
  tool: string | undefined,
  { env, principal }: Pick<ApprovalsOptions, 'env' | 'principal'>,
): boolean {
  if (principal !== undefined && principal !== whose) return false
  if (env !== undefined && key.environment !== env) return false
  return (name === undefined || key.name === name) && (tool === undefined || itsTool === tool)
}

/** The state of the home. What is wrong with it is told; a memory that lasts only as long as this takes nothing. */
function openState(cli: Cli) {
  const store = openStore(join(cli.home, 'state.sqlite'))
  for (const warning of store.warnings) cli.err.warn(oneLine(warning.message))
  return store
}

function toJson({ subject, binding, origin, givenAt, principal }: RememberedApproval): Record<string, unknown> {
  const { key, pluginId, connectorId, linkId, tool } = subject
  return {
    ...keyMembers(key),
    plugin_id: pluginId,
    ...(connectorId !== null && { connector_id: connectorId, link_id: linkId }),
    tool,
    principal: principal ?? LOCAL_PRINCIPAL,
    given_by: origin,
    given_at: new Date(givenAt).toISOString(),
    endpoint_sha256: binding.endpoint,
    definition_sha256: binding.definition,
  }
}

function shown({ key, tool }: ApprovalSubject): string {
  return `'${oneLine(tool)}' of ${oneLine(displayKey(key))}`
}

const GIVEN_BY = { answer: 'an answer', operator: 'reeve approvals' } as const

const PRINCIPAL = { title: 'PRINCIPAL', value: ({ principal }: RememberedApproval) => principal }

function showTable(cli: Cli, approvals: readonly RememberedApproval[]): void {
  const rows = approvals.map((approval) => ({ ...approval, key: approval.subject.key }))
  cli.out.table(rows, [
    ...keyColumns(rows),
    { title: 'TOOL', value: ({ subject }) => subject.tool },
    { title: 'PLUGIN', value: ({ subject }) => subject.pluginId ?? undefined },
    ...(rows.some(({ principal }) => principal !== undefined) ? [PRINCIPAL] : []),
    { title: 'GIVEN BY', value: ({ origin }) => GIVEN_BY[origin] },
    { title: 'GIVEN AT', value: ({ givenAt }) => new Date(givenAt).toISOString() },
  ])
}
