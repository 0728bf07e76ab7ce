import { ConfigError } from '../errors.js'

/** `off`: the bearer. `dual_header`: an assertion beside it. `assertion_only`: the assertion in its place. */
export type RuntimeAuthMode = 'off' | 'dual_header' | 'assertion_only'

export const RUNTIME_FEATURE = 'runtime_agent_instances'

/**
 * The mode that `features.runtime_agent_instances` asks for: absent or false is off, true is `dual_header`; a table is on
 * only with `enabled = true`, and `dual_header` without a mode. Source: reference, runtime-auth 1.
 *
 * @throws ConfigError `invalid_feature` for anything else.
 */
export function runtimeModeOf(feature: unknown): RuntimeAuthMode {
  if (feature === undefined || feature === false) return 'off'
  if (feature === true) return 'dual_header'
  const table = recordOf(feature)
  const mode = table?.mode ?? 'dual_header'
  const isKnown = mode === 'dual_header' || mode === 'assertion_only'
  const enabled = table?.enabled ?? false
  if (table === undefined || !isKnown || typeof enabled !== 'boolean')
    throw new ConfigError('invalid_feature', 'data did not match any variant of untagged enum FeatureToml', {
      place: `features.${RUNTIME_FEATURE}`,
      data: { path: ['features', RUNTIME_FEATURE] },
    })
  return enabled ? mode : 'off'
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
}
