import { spawn } from 'node:child_process'

interface Browser {
  readonly program: string
  readonly args: readonly string[]
}

/**
 * Opens a page in the user's browser; resolves to false where there is none that could be started. `BROWSER` names one,
 * without arguments of its own. Over SSH, or without a display, nobody would see it.
 *
 * @param url of http or https alone
 */
export function openBrowser(url: string, env: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  const browser = browserOf(url, env)
  if (browser === undefined) return Promise.resolve(false)
  return new Promise((resolve) => {
    const child = spawn(browser.program, browser.args, { stdio: 'ignore', detached: true, env: { ...env } })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}

function browserOf(url: string, env: Readonly<Record<string, string | undefined>>): Browser | undefined {
  if (env.BROWSER) return { program: env.BROWSER, args: [url] }
  if (process.platform === 'darwin') return { program: 'open', args: [url] }
  if (process.platform === 'win32') return { program: 'rundll32', args: ['url.dll,FileProtocolHandler', url] }
  const isSeen = (env.DISPLAY || env.WAYLAND_DISPLAY) && !env.SSH_CONNECTION
  return isSeen ? { program: 'xdg-open', args: [url] } : undefined
}
