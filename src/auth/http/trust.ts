import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ConfigError } from '../../errors.js'

/** Names a PEM file with certificates that are trusted beside those of the system. */
export const CA_VARIABLE = 'REEVE_CA_CERTIFICATE'

const BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/**
 * The certificates of the file that `REEVE_CA_CERTIFICATE` names; none when it is unset or blank.
 *
 * @throws ConfigError `ca_certificate` when the file can't be read, holds no certificate, or one that can't be parsed: to
 * go on without it would fail later, and less plainly.
 */
export function trustedCertificates(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const file = env[CA_VARIABLE]
  if (file === undefined || file.trim() === '') return []
  const refuse = (reason: string, cause?: unknown) =>
    new ConfigError('ca_certificate', `${CA_VARIABLE}: ${reason}`, { place: file, cause })
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw refuse('the file cannot be read', cause)
  }
  const blocks = text.match(BLOCK) ?? []
  if (blocks.length === 0) throw refuse('the file holds no PEM certificate')
  try {
    for (const block of blocks) new X509Certificate(block)
  } catch (cause) {
    throw refuse('the file holds a certificate that cannot be parsed', cause)
  }
  return blocks
}
