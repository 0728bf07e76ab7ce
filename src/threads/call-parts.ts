import { approvalsOf } from '../authority/index.js'
import { type ApprovalHost, CallApprovals } from './approval.js'
import { CallApps } from './apps/call-apps.js'
import type { ThreadApps } from './apps/thread-apps.js'
import { CallAudit } from './call-audit.js'
import type { LauncherSource } from './call-sandbox.js'
import { CallFiles } from './files/call-files.js'
import type { HostChannel } from './host-channel.js'
import type { OwningAuth } from './owning-auth.js'
import type { QuestionsHost } from './questions.js'
import type { ThreadHost } from './thread-host.js'
import type { ThreadOptions } from './types.js'

/** What has a part in each call of a thread, in a step or outside any. */
export interface CallParts {
  readonly threadId: string
  readonly apps: CallApps
  readonly approvals: CallApprovals
  readonly audit: CallAudit
  readonly files: CallFiles
  readonly launchers: LauncherSource
}

/** Of the thread that they are for. */
interface PartsOwner extends Pick<ApprovalHost, 'multiEnvironment' | 'live' | 'warn'> {
  readonly judging: QuestionsHost
  readonly channel: HostChannel
  readonly auth: OwningAuth | undefined
  readonly apps: ThreadApps
}

export function callPartsOf(host: ThreadHost, options: ThreadOptions, owner: PartsOwner): CallParts {
  const { judging, channel, auth, apps: hosted, multiEnvironment, live, warn } = owner
  const { threadId } = judging
  const apps = new CallApps({
    ...judging,
    channel,
    auth,
    runtimeContext: hosted.runtimeContext,
    settings: () => hosted.settings,
    refresh: (signal) => hosted.refresh({ ...(signal && { signal }) }),
    warn,
  })
  const durable = approvalsOf(host.approvals, options.principal)
  return {
    threadId,
    apps,
    approvals: new CallApprovals({ ...judging, apps, channel, options, multiEnvironment, durable, live, warn }),
    audit: new CallAudit(threadId, host.audit, options.principal),
    files: new CallFiles({
      auth,
      baseUrl: host.firstParty.runtime.places.baseUrl,
      environments: host.environments,
      trusted: options.fileParameters ?? [],
    }),
    launchers: host.launchers,
  }
}
