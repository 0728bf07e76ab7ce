/** Why a path is no launcher. */
export type LauncherFault =
  | 'not_absolute'
  | 'not_utf8'
  | 'missing'
  | 'not_a_file'
  | 'not_executable'
  | 'not_started'
  | 'timed_out'
  | 'too_much_output'
  | 'lacks_option'
  | 'command_failed'
  | 'does_not_sandbox'
  | 'changed'
  | 'unsupported_system'

/** Who named the path; `own`: it is the command line of this very Reeve. */
export type LauncherSource = 'auto' | 'configuration' | 'own'

/** What there is to sandbox commands with, as a value: for calls, and for those who ask why there is none. */
export type LauncherFinding =
  /** Switched off. */
  | { readonly is: 'off' }
  /** None was in these places when the runtime started; later ones are not looked for. */
  | { readonly is: 'absent'; readonly looked: readonly string[] }
  /** `path` is where `named` leads once every link is followed, and what servers are told. */
  | { readonly is: 'ready'; readonly named: string; readonly path: string; readonly source: LauncherSource }
  | {
      readonly is: 'refused'
      readonly named: string
      readonly source: LauncherSource
      readonly fault: LauncherFault
      /** For people; ends without a full stop. */
      readonly reason: string
    }

/** Something about a path or a program that keeps it from being a launcher. */
export interface Fault {
  readonly fault: LauncherFault
  readonly reason: string
}
