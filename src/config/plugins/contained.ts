/** A path of a server that must lie inside a folder also when links are followed, which only its environment can. */
export interface ContainedPath {
  readonly server: string
  readonly member: 'cwd' | 'command'
  readonly path: string
  readonly within: string
  /** A folder for data may not be there yet; what a plugin ships is. */
  readonly may: 'be new' | 'not be new'
}
