import { LOCAL_USER } from '../threads/index.js'

/**
 * How much of a limit one principal may use up. Where there is another one than the local user there are several, and half of what
 * a gateway can hold is left for the others.
 */
export function shareOf(limit: number, principal: string): number {
  return principal === LOCAL_USER ? limit : Math.max(1, Math.ceil(limit / 2))
}
