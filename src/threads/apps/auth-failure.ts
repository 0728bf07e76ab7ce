import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { connectorOf, member } from './connector.js'

/** That a call failed for want of a sign-in to its app, and what the server says of it (reference: auth, 5.3). */
export interface ConnectorAuthFailure {
  readonly connectorId: string
  readonly connectorName: string
  readonly installUrl: string
  readonly authReason?: string
  readonly linkId?: string
  readonly errorCode?: string
  readonly errorHttpStatusCode?: number
  readonly errorAction?: string
}

/**
 * Reads the failure from an error result. Whose it is the tool says: a result that names another connector is ignored, and so
 * is whatever name it gives.
 */
export function connectorAuthFailure(definition: JsonObject, result: JsonObject): ConnectorAuthFailure | undefined {
  if (result.isError !== true) return undefined
  const failure = member(member(result._meta, '_codex_apps'), 'connector_auth_failure')
  if (member(failure, 'is_auth_failure') !== true) return undefined
  const { id, name = id } = connectorOf(definition)
  if (id === undefined || name === undefined) return undefined
  const said = member(failure, 'connector_id')
  if (said !== undefined && said !== null && (typeof said !== 'string' || (said.trim() !== '' && said.trim() !== id)))
    return undefined
  const text = (from: string, to: string) => {
    const value = textOf(member(failure, from))
    return value === undefined ? {} : { [to]: value }
  }
  const status = member(failure, 'error_http_status_code')
  return Object.freeze({
    connectorId: id,
    connectorName: name,
    installUrl: installUrl(id, name),
    ...text('auth_reason', 'authReason'),
    ...text('link_id', 'linkId'),
    ...text('error_code', 'errorCode'),
    ...(typeof status === 'number' && Number.isSafeInteger(status) && { errorHttpStatusCode: status }),
    ...text('error_action', 'errorAction'),
  })
}

/** Where somebody signs in to an app. */
export function installUrl(id: string, name: string): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? ['app']
  return `https://chatgpt.com/apps/${words.join('-')}/${encodeURIComponent(id)}`
}

/** The params of the elicitation that asks for the sign-in. */
export function authElicitation(failure: ConnectorAuthFailure, callId: string): JsonObject {
  const { connectorId, connectorName, installUrl: url, authReason, linkId, errorCode, errorAction } = failure
  const { errorHttpStatusCode } = failure
  return {
    mode: 'url',
    elicitationId: `codex_apps_auth_${callId}`,
    url,
    message: messageOf(connectorName, authReason),
    _meta: {
      _codex_apps: {
        connector_auth_failure: {
          is_auth_failure: true,
          connector_id: connectorId,
          connector_name: connectorName,
          install_url: url,
          ...(authReason !== undefined && { auth_reason: authReason }),
          ...(linkId !== undefined && { link_id: linkId }),
          ...(errorCode !== undefined && { error_code: errorCode }),
          ...(errorHttpStatusCode !== undefined && { error_http_status_code: errorHttpStatusCode }),
          ...(errorAction !== undefined && { error_action: errorAction }),
        },
      },
    },
  }
}

/** What the call comes to once somebody signed in: still an error, for it was not carried out. */
export function retryResult({ connectorName }: ConnectorAuthFailure, result: JsonObject): JsonObject {
  const text = `The sign-in to ${connectorName} is done. Nothing was carried out: call the tool again.`
  return {
    content: [{ type: 'text', text }],
    isError: true,
    ...(result._meta !== undefined && { _meta: result._meta }),
  }
}

function messageOf(name: string, reason: string | undefined): string {
  switch (reason) {
    case 'oauth_upgrade_required':
      return `Reconnect ${name} to grant it the further permissions that this call needs.`
    case 'reauthentication_required':
      return `Reconnect ${name} to restore the access to it.`
    case 'missing_link':
      return `Sign in to ${name} to use it.`
    default:
      return `Sign in to ${name} to continue.`
  }
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}
