import { EXPANDED_MEMBERS } from '../expand.js'
import { nearest } from '../nearest.js'
import { BOTH_MEMBERS } from '../schema/server-shape.js'
import { emptyTable, type Path, type Raw, type RawTable } from '../source/raw.js'
import type { MemberRules } from './members.js'
import { type RewriteVariables, rewriteTexts } from './variables.js'

/** Another client's entry in our members. */
export interface TranslatedEntry {
  readonly entry: RawTable
  /** Our member → where the file has it, below the entry. */
  readonly origins: ReadonlyMap<string, Path>
  readonly notes: readonly TranslationNote[]
}

export interface TranslationNote {
  readonly code: 'unknown_member' | 'ignored_member'
  readonly message: string
  /** The member as the file calls it. */
  readonly member: string
}

/** Reads one entry by the rules of its client. Wrong types pass: the reader of our own entries names them. */
export function translateEntry(entry: RawTable, rules: MemberRules, rewrite: RewriteVariables): TranslatedEntry {
  const translation = new Translation(rewrite)
  for (const [member, rule] of rules) {
    const value = entry[member]
    if (value === undefined || value === null) continue
    if ('to' in rule) translation.put(rule.to, rule.as ? rule.as(value) : value, [member])
    else if ('split' in rule)
      for (const part of rule.split(value)) translation.put(part.to, part.value, [member, ...part.below])
    else if ('lost' in rule)
      translation.note('ignored_member', `\`${member}\` has no counterpart here: ${rule.lost}`, member)
  }
  for (const [member, value] of Object.entries(entry)) {
    if (rules.has(member)) continue
    // Members of ours may be written in these files too, under their own names.
    if (Object.hasOwn(BOTH_MEMBERS, member)) translation.put(member, value, [member])
    else translation.noteUnknown(member, rules)
  }
  return translation
}

class Translation implements TranslatedEntry {
  readonly entry: Record<string, Raw> = emptyTable()
  readonly origins = new Map<string, Path>()
  readonly notes: TranslationNote[] = []
  readonly #rewrite: RewriteVariables

  constructor(rewrite: RewriteVariables) {
    this.#rewrite = rewrite
  }

  put(to: string, value: Raw | undefined, origin: Path): void {
    if (value === undefined) return
    const earlier = this.origins.get(to)
    if (earlier !== undefined) {
      const member = origin.join('.')
      this.note('ignored_member', `\`${member}\` is ignored beside \`${earlier.join('.')}\``, member)
      return
    }
    this.origins.set(to, origin)
    this.entry[to] = EXPANDED_MEMBERS.includes(to) ? rewriteTexts(value, this.#rewrite) : value
  }
  note(code: TranslationNote['code'], message: string, member: string): void {
    this.notes.push({ code, message, member })
  }
  noteUnknown(member: string, rules: MemberRules): void {
    const close = nearest(member, [...rules.keys(), ...Object.keys(BOTH_MEMBERS)])
    this.note('unknown_member', close === undefined ? '' : `; did you mean \`${close}\`?`, member)
  }
}
