import type { LauncherFinding, LauncherFindings } from '../../reeve.js'
import type { Finding } from './finding.js'

/** The configuration names a program that sandboxed commands can't be run through. One that just is there is nobody's fault. */
export function launcherFindings({ codex }: LauncherFindings): Finding[] {
  if (codex.is !== 'refused' || codex.source !== 'configuration') return []
  return [
    {
      severity: 'error',
      code: 'launcher_refused',
      place: 'launcher',
      message: `${codex.named} is no launcher for sandboxed commands: ${codex.reason}`,
      mend: 'name a Codex CLI that can sandbox here, or "none"',
    },
  ]
}

/** One line on what servers are told to run sandboxed commands through, and on what is not there for that. */
export function launcherLine({ codex, reeve }: LauncherFindings): string {
  const paths = [codex, reeve].flatMap((one) => (one?.is === 'ready' ? [one.path] : []))
  const reasons = [reasonOf(codex), reeve?.is === 'refused' ? `Reeve's own, ${reasonOf(reeve)}` : '']
  const lacks = reasons.filter((reason) => reason !== '').join('; ')
  const found = paths.length === 0 ? 'none' : paths.join(', ')
  return lacks === '' ? found : `${found} (${lacks})`
}

function reasonOf(launcher: LauncherFinding): string {
  switch (launcher.is) {
    case 'off':
      return 'switched off'
    case 'absent':
      return `no Codex CLI in ${launcher.looked.join(', ')}`
    case 'refused':
      return `${launcher.named}: ${launcher.reason}`
    case 'ready':
      return ''
  }
}
