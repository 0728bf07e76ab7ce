import type { ApprovalMode } from '../../config/index.js'
import type { JsonObject } from '../../protocol/index.js'

/** What a tool says of itself, as far as it decides about approvals. Anything but a boolean counts as unsaid. */
export interface ToolHints {
  readonly readOnly: boolean | undefined
  readonly destructive: boolean | undefined
  readonly openWorld: boolean | undefined
}

export function hintsOf({ annotations }: JsonObject): ToolHints {
  const hint = (name: string): boolean | undefined => {
    if (typeof annotations !== 'object' || annotations === null || Array.isArray(annotations)) return undefined
    const value = Object.hasOwn(annotations, name) ? annotations[name] : undefined
    return typeof value === 'boolean' ? value : undefined
  }
  return { readOnly: hint('readOnlyHint'), destructive: hint('destructiveHint'), openWorld: hint('openWorldHint') }
}

/**
 * Whether a tool is asked for in this mode (reference: authority, 1). A tool that claims to be read-only and destructive
 * is asked for: one of the two is untrue (known-quirks, 30b).
 */
export function needsApproval(mode: ApprovalMode, hints: ToolHints): boolean {
  switch (mode) {
    case 'approve':
      return false
    case 'prompt':
      return true
    case 'writes':
      return hints.readOnly !== true
    case 'auto':
      if (hints.readOnly === true) return hints.destructive === true
      return hints.destructive !== false || hints.openWorld !== false
  }
}

/**
 * A user's mode under what is managed for him, which only tightens (reference: authority, 1): `prompt` wins over all,
 * `approve` demands nothing, and where one side goes by the annotations and the other by writes, every call is asked for.
 */
export function underManagedMode(own: ApprovalMode, managed: ApprovalMode | undefined): ApprovalMode {
  if (managed === undefined || managed === 'approve') return own
  if (own === 'approve' || own === managed) return managed
  return 'prompt'
}
