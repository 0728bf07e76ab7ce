import type { Cli } from '../cli.js'
import { openRuntime } from '../session.js'
import { signInOf } from './sign-in-state.js'

/** Signs out of the first-party backend: the authority is told, and the stored record deleted. 1 when nobody was signed in. */
export async function signOut(cli: Cli): Promise<number> {
  await using runtime = await openRuntime(cli)
  const { auth } = runtime.reeve
  const before = auth?.current()
  if (auth === undefined || before?.state !== 'signed_in') {
    if (cli.json) cli.out.json({ first_party: { state: 'never' } })
    else cli.err.line('nobody is signed in to the first-party backend')
    return 1
  }
  await auth.logout()
  const isVariable = before.source.kind === 'environment'
  if (cli.json) cli.out.json({ first_party: signInOf(runtime.reeve) })
  else if (isVariable) cli.err.line('the credential is of an environment variable: unset it to sign out')
  else cli.out.line('signed out of the first-party backend')
  return isVariable ? 1 : 0
}
