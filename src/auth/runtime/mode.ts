import { RUNTIME_FEATURE, type RuntimeAuthMode, runtimeModeOf } from '../../config/index.js'

export { type RuntimeAuthMode, runtimeModeOf }

/** The mode of a thread at its creation: its own setting, else the configuration's (reference: runtime-auth, 1). */
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
