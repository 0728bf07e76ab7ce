// What an executor adds to one MCP call: over its pipes and over its WebSocket, with and without the pong after each message.
import { latencyMarkdown, MOST_TIMES, measureExecutorLatency } from '../../../bench/executor-latency.mjs'

export async function latency() {
  const summary = await measureExecutorLatency()
  console.log(latencyMarkdown(summary))
  const slow = summary.ratios.filter(({ reached }) => !reached)
  if (slow.length > 0) {
    const titles = slow.map(({ title }) => title).join(' and ')
    throw new Error(`over a WebSocket ${titles} takes more than ${MOST_TIMES} times as long as over stdio`)
  }
}
