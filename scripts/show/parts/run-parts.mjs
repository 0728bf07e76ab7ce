/**
 * Runs the parts of a show: each prints a heading and what came out. A part that fails says so; the others still run.
 *
 * @param {readonly (readonly [title: string, part: () => Promise<void>])[]} parts
 * @returns {Promise<boolean>} whether every part came out well
 */
export async function runParts(parts) {
  const failed = []
  for (const [title, part] of parts) {
    console.log(`\n## ${title}\n`)
    try {
      await part()
    } catch (error) {
      failed.push(title)
      console.log(`FAILED: ${error.message}`)
    }
  }
  console.log(failed.length === 0 ? '\nAll parts came out well.' : `\nFailed: ${failed.join('; ')}`)
  return failed.length === 0
}
