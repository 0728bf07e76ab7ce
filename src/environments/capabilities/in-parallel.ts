/** Reads of one environment at the same time: each may take a connection of its own. */
const AT_ONCE = 8

/** Works on every item, several at once, and raises the first fault only when all are done. Results in order. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: PromiseSettledResult<Result>[] = []
  const waiting = items.entries()
  const worker = async () => {
    for (const [index, item] of waiting) {
      const [result] = await Promise.allSettled([work(item)])
      results[index] = result
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker))
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}
