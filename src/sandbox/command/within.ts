/** Whether a path is `folder` or lies in it. Both absolute and normalised. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || folder === '/' || path.startsWith(`${folder}/`)
}

/** How many folders deep: 0 for the root. */
export function depthOf(path: string): number {
  return path === '/' ? 0 : path.split('/').length - 1
}
