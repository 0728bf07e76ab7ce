import { hostInfo } from '../protocol/index.js'
import type { Channel, ChannelEvents } from './channel.js'
import { Connection } from './connection.js'
import { type Methods, methodsOf } from './methods.js'
import type { Variables } from './processes/env-policy.js'
import { Sessions } from './sessions.js'

export interface ExecutorOptions {
  /** Variables that processes may inherit, and that `valueEnvVar` reads; those of this process unless told. */
  readonly env?: Variables
  /** Absolute; this process's own unless told. */
  readonly cwd?: string
  /** Milliseconds that a session without a connection is kept; 80,000. Below 45,000 real clients come back too late. */
  readonly detachedMs?: number
}

/** What all listeners of one executor have in common. */
export interface Executor {
  connect(channel: Channel & { listen(events: ChannelEvents): void }, canResume: boolean): void
  /** Kills every process; resolves when they are collected. */
  close(): Promise<void>
}

export function createExecutor({
  env = process.env,
  cwd = process.cwd(),
  detachedMs = 80_000,
}: ExecutorOptions): Executor {
  const sessions = new Sessions(detachedMs)
  const info = hostInfo(cwd, env, {
    httpHeaderEnvVars: true,
    fileWriteStreaming: true,
    capabilityDiscoveryV2: true,
    environmentConfigRead: true,
  })
  const methods: Methods = methodsOf(info, env)
  return {
    connect(channel, canResume) {
      channel.listen(new Connection(channel, { sessions, methods, info, canResume }))
    },
    close: () => sessions.close(),
  }
}
