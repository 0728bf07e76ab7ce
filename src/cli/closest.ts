import { nearest } from '../config/index.js'

/** `. Did you mean 'x'?`, or nothing where no candidate is close. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const found = nearest(name, candidates)
  return found === undefined ? '' : `. Did you mean '${found}'?`
}
