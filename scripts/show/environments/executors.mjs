// `reeve executor` as an environment of the real Codex; and of Reeve, through a local sshd.
import { outcomes } from '../eras/outcomes.mjs'

const UNDER_CODEX = 'test/clients/executor-codex.test.ts'
const OVER_SSH = 'test/e2e/ssh-executor.test.ts'

export async function executors() {
  await outcomes('the real Codex on `reeve executor`', UNDER_CODEX)
  console.log()
  await outcomes('Reeve on `ssh host reeve executor`', OVER_SSH)
}
