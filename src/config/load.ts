import { basename, dirname, extname, isAbsolute, join } from 'node:path'
import { ConfigError } from '../errors.js'
import { connectingVariables } from './environments/host-variables.js'
import { legacyEnvironments, noiseProblem } from './environments/legacy.js'
import { type EnvironmentsFile, readEnvironmentsFile } from './environments/read-file.js'
import type { Environment } from './expand.js'
import { FURTHER_REQUIREMENTS, managedRequirementsFile, reeveHome } from './home.js'
import type { HookEntry } from './hooks/settings.js'
import { type LayerSettings, type MergedSettings, mergeLayers } from './merge.js'
import type { PermissionSettings } from './permissions/settings.js'
import { findProject, realPath, shellWord, trustOf } from './project.js'
import { readSettings } from './read-settings.js'
import { type Requirements, readRequirements } from './requirements.js'
import { type ManagedPermissions, nothingPermitted } from './requirements-permissions.js'
import type { ConfigOrigin, ConfigProblem } from './server.js'
import type { FileSettings } from './settings.js'
import type { SourceDocument } from './source/raw.js'
import { readConfigText } from './source/read-text.js'
import { parseToml } from './source/toml.js'

export interface LoadConfigOptions {
  /** Reeve's folder. Default: `$REEVE_HOME`, else `~/.reeve`. */
  readonly home?: string
  /** Where the search for a project starts. Default: the working directory. */
  readonly cwd?: string
  /** Variables for `${VAR}` and for finding homes. Default: `process.env`. */
  readonly env?: Environment
  /** When not empty, the only sources, later ones over earlier ones: neither the user's nor a project's file is read. */
  readonly files?: readonly string[]
  /** Unknown members are errors instead of warnings. */
  readonly strict?: boolean
  /**
   * The requirements. Default: those of the administrator, `/etc/reeve/requirements.toml`, and what the file demands as
   * well that `$REEVE_REQUIREMENTS` names.
   */
  readonly requirementsFile?: string
}

export interface ConfigFile {
  readonly path: string
  readonly layer: ConfigOrigin['layer']
  readonly exists: boolean
  /** False for the file of a project that the user has not trusted: nothing in it counts. */
  readonly trusted: boolean
}

/** Everything that configuration says, and everything that is wrong with it. */
export interface LoadedConfig extends MergedSettings {
  readonly requirements: Requirements | undefined
  readonly problems: readonly ConfigProblem[]
  /** In the order in which they were put on each other. */
  readonly files: readonly ConfigFile[]
  /** Every `environments.toml` that is there and counts, also a broken one. */
  readonly environmentFiles: readonly string[]
}

/**
 * Loads the user's configuration and the trusted project's, or the given files instead. An `environments.toml` belongs to
 * the `config.toml` beside it, in Reeve's home and in that of Codex. Starts nothing and never throws
 * for what stands in a file: each fault is one problem with its place, and all the rest counts.
 *
 * `${VAR}` is replaced in JSON files and in our own `config.toml`, never in a file of Codex (one in `.codex` or
 * `$CODEX_HOME`), whose format has no variables.
 *
 * @example
 * ```ts
 * const { servers, problems } = await loadConfig()
 * for (const { place, message } of problems) console.error(`${place}: ${message}`)
 * ```
 */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<LoadedConfig> {
  const load = new ConfigLoad(options)
  const requirements = load.requirements(options.requirementsFile)
  const managed = load.managedHooks
  if (options.files && options.files.length > 0) {
    for (const file of options.files) await load.named(file)
  } else {
    await load.user()
    await load.project(options.cwd ?? process.cwd())
  }
  const merged = mergeLayers(load.layers, load.environments())
  load.lookUpVariables(merged)
  load.problems.push(...merged.permissions.problems)
  const hooks = managed.length === 0 ? merged.hooks : Object.freeze({ ...merged.hooks, managed })
  const permissions = load.permitted(merged.permissions)
  return Object.freeze({ ...merged, hooks, permissions, requirements, ...load.told })
}

class ConfigLoad {
  readonly layers: LayerSettings[] = []
  readonly problems: ConfigProblem[] = []
  readonly files: ConfigFile[] = []
  readonly environmentFiles: string[] = []
  readonly managedHooks: HookEntry[] = []
  readonly #permitted: ManagedPermissions[] = []
  readonly #environment: Environment
  readonly #home: string
  readonly #strict: boolean
  /** Folders whose `environments.toml` counts. */
  readonly #homes = new Map<string, ConfigOrigin['layer']>()

  constructor(options: LoadConfigOptions) {
    this.#environment = options.env ?? process.env
    this.#home = options.home ?? reeveHome(this.#environment)
    this.#strict = options.strict ?? false
  }

  get told(): Pick<LoadedConfig, 'problems' | 'files' | 'environmentFiles'> {
    const { problems, files, environmentFiles } = this
    return { problems, files, environmentFiles }
  }

  user(): Promise<boolean> {
    this.#homes.set(this.#home, 'user')
    return this.#add(join(this.#home, 'config.toml'), 'user')
  }

  async project(cwd: string): Promise<void> {
    const project = findProject(cwd, this.#home)
    if (project === undefined) return
    const { folder, file } = project
    const trust = trustOf(folder, this.layers[0]?.settings.projects ?? new Map())
    if (trust === 'trusted') {
      await this.#add(file, 'project')
      return
    }
    this.files.push({ path: file, layer: 'project', exists: true, trusted: false })
    if (trust === 'untrusted') return
    const message = `this project is not trusted, so its configuration does not count; to trust it: reeve config trust ${shellWord(folder)}`
    this.problems.push({ severity: 'warning', code: 'untrusted_project', message, place: file })
  }

  async named(file: string): Promise<void> {
    if (this.#isOfHome(file)) this.#homes.set(dirname(file), 'file')
    const found = await this.#add(file, 'file')
    if (!found)
      this.problems.push({ severity: 'error', code: 'not_found', message: 'there is no such file', place: file })
  }

  /** Whatever one of the files demands holds. */
  requirements(named: string | undefined): Requirements | undefined {
    if (named !== undefined) return this.#requirementsOf(named)
    const managed = this.#requirementsOf(managedRequirementsFile(this.#environment))
    const further = this.#furtherRequirements()
    return managed && further ? Object.freeze({ ...further, also: managed }) : (managed ?? further)
  }

  /** A file that was named and is not there would be a demand that nobody hears of. */
  #furtherRequirements(): Requirements | undefined {
    const file = this.#environment[FURTHER_REQUIREMENTS]
    if (file === undefined || file === '') return undefined
    if (isAbsolute(file)) return this.#requirementsOf(file, { mustExist: true })
    const message = `must be an absolute path, so no server is allowed; got '${file}'`
    this.problems.push({ severity: 'error', code: 'invalid_value', message, place: `$${FURTHER_REQUIREMENTS}` })
    return this.#noneAllowed(file)
  }

  /** A requirements file that cannot be read allows no server: it must not be weakened by breaking it. */
  #requirementsOf(file: string, { mustExist = false } = {}): Requirements | undefined {
    try {
      const text = readConfigText(file)
      if (text === undefined && mustExist) throw new ConfigError('not_found', 'there is no such file', { place: file })
      if (text === undefined) return undefined
      const { requirements, hooks, permissions, problems } = readRequirements(parseToml(file, text))
      this.problems.push(...problems)
      this.managedHooks.push(...hooks)
      if (permissions !== undefined) this.#permitted.push(permissions)
      return requirements
    } catch (error) {
      this.#noteFault(error, 'requirements cannot be read, so no server is allowed: ')
      return this.#noneAllowed(file)
    }
  }

  #noneAllowed(source: string): Requirements {
    this.#permitted.push(nothingPermitted(source))
    return { source, servers: new Map() }
  }

  /** What the files say of permissions, and what the requirements let that be. */
  permitted(settings: PermissionSettings): PermissionSettings {
    return this.#permitted.length === 0 ? settings : Object.freeze({ ...settings, managed: this.#permitted })
  }

  /** Read after all layers: their environments may be named in it. A broken file is one problem and counts as absent. */
  environments(): readonly EnvironmentsFile[] {
    const ids = this.layers.flatMap(({ settings }) => settings.environments.entries.map(({ id }) => id))
    const read = [...this.#homes].flatMap(([folder, layer]) => this.#environmentsIn(folder, layer, new Set(ids)))
    const noise = this.#homes.size > 0 ? noiseProblem(this.#environment) : undefined
    if (noise !== undefined) this.problems.push(noise)
    return read
  }

  /** A broker gets from its client what was looked up here, and connections are made with nothing else. */
  lookUpVariables({ environments }: Pick<MergedSettings, 'environments'>): void {
    for (const entry of environments.entries)
      for (const name of connectingVariables(entry)) Object.hasOwn(this.#environment, name)
  }

  #environmentsIn(
    folder: string,
    layer: ConfigOrigin['layer'],
    otherIds: ReadonlySet<string>,
  ): readonly EnvironmentsFile[] {
    const file = join(folder, 'environments.toml')
    try {
      const text = readConfigText(file)
      if (text !== undefined) this.environmentFiles.push(file)
      if (text !== undefined) return [readEnvironmentsFile(parseToml(file, text), layer, otherIds)]
    } catch (error) {
      if (this.environmentFiles.at(-1) !== file) this.environmentFiles.push(file)
      this.#noteFault(error, '')
      return []
    }
    const legacy = legacyEnvironments(this.#environment, (problem) => this.problems.push(problem))
    return legacy === undefined ? [] : [legacy]
  }

  /** @returns whether the file exists. */
  async #add(file: string, layer: ConfigOrigin['layer']): Promise<boolean> {
    try {
      const text = readConfigText(file)
      this.files.push({ path: file, layer, exists: text !== undefined, trusted: true })
      if (text === undefined) return false
      const settings = await this.#read(file, text, layer)
      this.layers.push({ file, layer, settings })
      this.problems.push(...settings.problems)
    } catch (error) {
      if (this.files.at(-1)?.path !== file) this.files.push({ path: file, layer, exists: true, trusted: true })
      this.#noteFault(error, '')
    }
    return true
  }

  async #read(file: string, text: string, layer: ConfigOrigin['layer']): Promise<FileSettings> {
    const json = isJson(file, text)
    const ofCodex = !json && layer === 'file' && this.#isOfCodex(file)
    return readSettings(json ? await this.#foreign(file, text) : parseToml(file, text), {
      layer,
      strict: this.#strict,
      sharedFile: ofCodex,
      ...(!ofCodex && { variables: this.#environment }),
    })
  }

  async #foreign(file: string, text: string): Promise<SourceDocument> {
    const { parseForeignFile } = await import('./foreign/file.js')
    const { document, problems } = parseForeignFile(file, text, this.#environment, this.#strict)
    this.problems.push(...problems)
    return document
  }

  /** The `config.toml` of Reeve's home or of Codex, named by hand. */
  #isOfHome(file: string): boolean {
    if (basename(file) !== 'config.toml') return false
    return this.#isOfCodex(file) || realPath(dirname(file)) === realPath(this.#home)
  }

  #isOfCodex(file: string): boolean {
    const folder = realPath(dirname(file))
    if (basename(folder) === '.codex') return true
    const named = this.#environment.CODEX_HOME
    return named !== undefined && named !== '' && realPath(named) === folder
  }

  #noteFault(error: unknown, prefix: string): void {
    if (!(error instanceof ConfigError)) throw error
    const { code, message, place } = error
    this.problems.push({ severity: 'error', code, message: prefix + message, place: place ?? '' })
  }
}

/** By extension, else by the first character. */
function isJson(file: string, text: string): boolean {
  const extension = extname(file).toLowerCase()
  if (extension === '.json' || extension === '.jsonc') return true
  return extension !== '.toml' && text.trimStart().startsWith('{')
}
