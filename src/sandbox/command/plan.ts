import type { CrossedLink } from './locate.js'

/** What a path is to the command. Each outweighs those above it in the tree. */
export type Rule =
  | { readonly kind: 'read' | 'write'; readonly path: string; readonly isFolder: boolean }
  /** `opened`: something below it is allowed, so it must be passable. */
  | { readonly kind: 'deny'; readonly path: string; readonly isFolder: boolean; readonly opened: boolean }
  /** Does not exist, and may not come into being. */
  | { readonly kind: 'absent'; readonly path: string }

/** What a command may do, in terms that any system can enforce. */
export interface Plan {
  /** Of everything that no rule covers. */
  readonly base: 'none' | 'read' | 'write'
  /** Paths as they really lie; what is higher in the tree comes first. */
  readonly rules: readonly Rule[]
  /** Links by whose names the rules' paths are known. */
  readonly links: readonly CrossedLink[]
  readonly network: boolean
  /** As it really lies. */
  readonly cwd: string
}
