// Two servers with the same URIs, and two clients with the same request ids whose users are asked at the same time.
import { outcomes } from './outcomes.mjs'

export function sameNames() {
  return outcomes('scenario', 'test/e2e/matrix/same-names.test.ts')
}
