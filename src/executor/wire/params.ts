import { decodeBytes, pathOfFileUri } from '../../protocol/index.js'
import { invalidParams } from './fault.js'
import { isObject, type Members, own } from './frame.js'

/**
 * Reads the parameters of a request; unknown members are ignored. Every reader raises `RpcError` -32602 that names the
 * member, never its value: values hold secrets.
 */
export class Params {
  readonly #members: Members
  readonly #place: string

  constructor(value: unknown, place = '') {
    if (value !== undefined && !isObject(value)) throw invalidParams(`${place || 'params'} must be an object`)
    this.#members = value ?? {}
    this.#place = place === '' ? '' : `${place}.`
  }

  text(name: string): string {
    return this.optionalText(name) ?? this.#missing(name)
  }
  optionalText(name: string): string | undefined {
    return this.#typed(name, 'a string', (value) => typeof value === 'string')
  }

  flag(name: string): boolean {
    return this.optionalFlag(name) ?? this.#missing(name)
  }
  optionalFlag(name: string): boolean | undefined {
    return this.#typed(name, 'a boolean', (value) => typeof value === 'boolean')
  }

  /** A whole number from 0. */
  count(name: string): number {
    return this.optionalCount(name) ?? this.#missing(name)
  }
  optionalCount(name: string): number | undefined {
    return this.#typed(name, 'a whole number from 0', isCount)
  }

  texts(name: string): readonly string[] {
    return this.#typed(name, 'an array of strings', isTexts) ?? this.#missing(name)
  }

  textLists(name: string): readonly (readonly string[])[] {
    return this.#typed(name, 'an array of arrays of strings', isTextLists) ?? this.#missing(name)
  }

  textMap(name: string): ReadonlyMap<string, string> {
    const value = this.#typed(name, 'an object of strings', isTextMap) ?? this.#missing(name)
    return new Map(Object.entries(value))
  }

  oneOf<const Choice extends string>(name: string, choices: readonly Choice[]): Choice {
    return this.optionalOneOf(name, choices) ?? this.#missing(name)
  }
  optionalOneOf<const Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.optionalText(name)
    const found = choices.find((choice) => choice === value)
    if (value !== undefined && found === undefined)
      throw invalidParams(`${this.#place}${name} must be one of ${choices.join(', ')}`)
    return found
  }

  /** Standard padded base64 (RFC 4648, 4). */
  bytes(name: string): Buffer {
    return this.optionalBytes(name) ?? this.#missing(name)
  }
  optionalBytes(name: string): Buffer | undefined {
    const text = this.optionalText(name)
    if (text === undefined) return undefined
    const bytes = decodeBytes(text)
    if (bytes === undefined) throw invalidParams(`${this.#place}${name} is not padded base64`)
    return bytes
  }

  /** The native path of a `file:` URI. */
  path(name: string): string {
    return nativePath(this.text(name), `${this.#place}${name}`)
  }
  optionalPath(name: string): string | undefined {
    return this.has(name) ? this.path(name) : undefined
  }

  group(name: string): Params {
    return this.optionalGroup(name) ?? this.#missing(name)
  }
  optionalGroup(name: string): Params | undefined {
    const value = this.#typed(name, 'an object', isObject)
    return value === undefined ? undefined : new Params(value, `${this.#place}${name}`)
  }

  requiredGroups(name: string): readonly Params[] {
    return this.has(name) ? this.groups(name) : this.#missing(name)
  }
  groups(name: string): readonly Params[] {
    const value = this.#typed(name, 'an array', Array.isArray) ?? []
    return value.map((item: unknown, index) => new Params(item ?? null, `${this.#place}${name}[${index}]`))
  }

  /** Whether the member is there and not null. */
  has(name: string): boolean {
    return this.#value(name) !== undefined
  }

  #value(name: string): unknown {
    return own(this.#members, name) ?? undefined
  }

  #typed<Value>(name: string, what: string, is: (value: unknown) => value is Value): Value | undefined {
    const value = this.#value(name)
    if (value === undefined) return undefined
    if (!is(value)) throw invalidParams(`${this.#place}${name} must be ${what}`)
    return value
  }

  #missing(name: string): never {
    throw invalidParams(`missing field \`${this.#place}${name}\``)
  }
}

/** Raises `RpcError` -32602 unless the parameters are absent, null or empty. */
export function noParams(value: unknown): void {
  if (value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0)) return
  throw invalidParams('this method takes no params')
}

export function nativePath(uri: string, place: string): string {
  const path = pathOfFileUri(uri, process.platform === 'win32' ? 'windows' : 'posix')
  if (path === undefined) throw invalidParams(`${place} must be a file: URI of this machine`)
  return path
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isTextLists(value: unknown): value is readonly (readonly string[])[] {
  return Array.isArray(value) && value.every(isTexts)
}

function isTextMap(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && Object.values(value).every((item) => typeof item === 'string')
}
