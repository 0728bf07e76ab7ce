import type { JsonValue } from '../../../src/protocol/index.js'

/** What is asked of both sides, in words of neither. Answers are plain JSON, so that they can be compared and written down. */
export type Question =
  /** The status rows of the thread. */
  | { readonly ask: 'rows' }
  /** What the model is offered: namespaces with their tools, and the resource functions. */
  | { readonly ask: 'namespaces' }
  | { readonly ask: 'functions' }
  /** A tool call of the model. */
  | { readonly ask: 'call'; readonly namespace: string; readonly name: string; readonly arguments?: Json }
  /** A call of a plain function by the model. */
  | { readonly ask: 'function'; readonly name: string; readonly arguments: Json }
  /** A call and a read from outside any step. `environment` absent: by name alone. */
  | ({ readonly ask: 'direct'; readonly tool: string; readonly arguments?: Json } & Whom)
  | ({ readonly ask: 'read'; readonly uri: string } & Whom)
  /** How the startups since the beginning went: for each server the states that were told. */
  | { readonly ask: 'startups' }
  /** What the thread has selected. */
  | { readonly ask: 'selection' }
  /** To read the configuration again. */
  | { readonly ask: 'reload' }
  /** Another selection, from the next step on. */
  | { readonly ask: 'select'; readonly environments: readonly string[] }
  /** What a further thread that is started so has selected. `cwd` absent: the folder of the environment. */
  | {
      readonly ask: 'start'
      readonly environments?: readonly { readonly id: string; readonly cwd?: string }[]
      readonly roots?: readonly { readonly id: string; readonly environment: string; readonly path: string }[]
    }

interface Whom {
  readonly server: string
  readonly environment?: string
}

export type Json = JsonValue

/** Questions that only the model of a turn can ask. */
export type ModelQuestion = Extract<Question, { ask: 'namespaces' | 'functions' | 'call' | 'function' }>

export function isModelQuestion(question: Question): question is ModelQuestion {
  return ['namespaces', 'functions', 'call', 'function'].includes(question.ask)
}

/** One of the two implementations, with a thread in a world. */
export interface Side extends AsyncDisposable {
  /** The answers in order. Those of neighbouring questions of the model are of one turn. */
  answers(questions: readonly Question[]): Promise<readonly Json[]>
  /** Resolves once an environment that came back is as well again as this side makes it without being asked to. */
  recovered(environment: string): Promise<void>
}
