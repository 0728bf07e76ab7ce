/** Milliseconds to wait after this many failures in a row: twice as long each time, a random half of it. */
export function backOff(
  failures: number,
  { backOffMs, longestMs }: { readonly backOffMs: number; readonly longestMs: number },
): number {
  const whole = Math.min(longestMs, backOffMs * 2 ** Math.min(failures - 1, 30))
  return whole / 2 + (Math.random() * whole) / 2
}
