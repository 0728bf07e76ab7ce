import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type TextFile, textFile } from './plugin-texts.js'

/** Of one plugin. */
const MOST_SKILLS = 256

/** The skills of a plugin, `skills/<name>/SKILL.md`, as they stand. */
export async function skillTexts(folder: string): Promise<{
  readonly skills: readonly { readonly instructions: TextFile; readonly metadata: null }[]
  readonly warnings: readonly string[]
}> {
  const skills: { instructions: TextFile; metadata: null }[] = []
  const warnings: string[] = []
  for (const name of await names(join(folder, 'skills'))) {
    if (skills.length === MOST_SKILLS) {
      warnings.push(`only the first ${MOST_SKILLS} skills are told`)
      break
    }
    const file = await textFile(folder, join('skills', name, 'SKILL.md'))
    if (typeof file === 'string') warnings.push(file)
    else if (file !== null) skills.push({ instructions: file, metadata: null })
  }
  return { skills, warnings }
}

async function names(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith('.')).sort()
  } catch {
    // Most plugins have none.
    return []
  }
}
