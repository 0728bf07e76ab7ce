import { approvalModeOf } from '../catalog/index.js'
import type { ServerConfig } from '../config/index.js'
import { ApprovalRequiredError } from '../errors.js'
import type { JsonObject } from '../protocol/index.js'
import type { ApprovalRequest, ThreadOptions } from './types.js'

/**
 * Lets a call through, or asks first where the configuration says so in as many words: mode `prompt`, or `writes` for a
 * tool that does not declare itself read-only. Other modes run.
 *
 * @throws ApprovalRequiredError when nobody can be asked, or the answer is no; nothing was sent
 */
export async function approve(
  config: ServerConfig,
  request: ApprovalRequest,
  ask: ThreadOptions['onApproval'],
  signal: AbortSignal | undefined,
): Promise<void> {
  const mode = approvalModeOf(config, request.tool)
  if (!(mode === 'prompt' || (mode === 'writes' && !isReadOnly(request.definition)))) return
  if (ask === undefined) {
    throw new ApprovalRequiredError(
      request.key,
      request.tool,
      `its approval mode is '${mode}' and nobody here can be asked`,
    )
  }
  if ((await ask(request, signal)) !== 'approve') {
    throw new ApprovalRequiredError(request.key, request.tool, 'it was declined')
  }
}

function isReadOnly(definition: JsonObject): boolean {
  const { annotations } = definition
  return (
    typeof annotations === 'object' &&
    annotations !== null &&
    !Array.isArray(annotations) &&
    annotations.readOnlyHint === true
  )
}
