import { ConfigError } from '../../errors.js'
import { asRecord } from '../sources/claims.js'

/** `off`: the bearer. `dual_header`: an assertion beside it. `assertion_only`: the assertion in its place. */
export type RuntimeAuthMode = 'off' | 'dual_header' | 'assertion_only'

export const RUNTIME_FEATURE = 'runtime_agent_instances'

/**
 * The mode that `features.runtime_agent_instances` asks for: absent or false is off, true is `dual_header`; a table is on
 * only with `enabled = true`, and `dual_header` without a mode. Source: reference, runtime-auth 1.
 *
 * @throws ConfigError `invalid_feature` for anything else.
 */
export function runtimeModeOf(feature: unknown, place = `features.${RUNTIME_FEATURE}`): RuntimeAuthMode {
  if (feature === undefined || feature === false) return 'off'
  if (feature === true) return 'dual_header'
  const table = asRecord(feature)
  const mode = table?.mode ?? 'dual_header'
  const isKnown = mode === 'dual_header' || mode === 'assertion_only'
  const enabled = table?.enabled ?? false
  if (table === undefined || !isKnown || typeof enabled !== 'boolean')
    throw new ConfigError('invalid_feature', 'data did not match any variant of untagged enum FeatureToml', { place })
  return enabled ? mode : 'off'
}

/** The mode of a thread at its creation: its own setting, else the configuration's. */
export function threadRuntimeMode(
  features: Readonly<Record<string, unknown>>,
  overrides: Readonly<Record<string, unknown>> = {},
): RuntimeAuthMode {
  const own = overrides[`features.${RUNTIME_FEATURE}`]
  return runtimeModeOf(own === undefined ? features[RUNTIME_FEATURE] : own)
}

/** Status connections use the mode of the thread that is named, else that of the moment (reference: known-quirks 71). */
export function statusRuntimeMode(thread: RuntimeAuthMode | undefined, current: RuntimeAuthMode): RuntimeAuthMode {
  return thread ?? current
}
