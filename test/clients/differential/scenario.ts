import type { Json, Question } from './questions.js'
import type { Plan, PluginPlan } from './world.js'

/** What happens between two questions. */
export type Happening =
  | { readonly happens: 'kill' | 'restart' | 'cut'; readonly environment: string }
  /** The plugin's folder is written anew. */
  | { readonly happens: 'edit'; readonly plugin: PluginPlan }

/** Questions in a world, asked of both sides at the same stages. */
export interface Scenario {
  readonly name: string
  readonly plan: Plan
  readonly course: readonly (Question | Happening)[]
}

/** A question by the title it has in its scenario. */
export interface Titled {
  readonly title: string
  readonly question: Question
}

/** The questions between two happenings, and the happening that follows them. */
export interface Stage {
  readonly questions: readonly Titled[]
  readonly next: Happening | undefined
}

export function stagesOf({ course }: Scenario): readonly Stage[] {
  const stages: Stage[] = []
  const used = new Map<string, number>()
  let questions: Titled[] = []
  for (const part of course) {
    if ('happens' in part) {
      stages.push({ questions, next: part })
      questions = []
      continue
    }
    const plain = titleOf(part)
    const times = (used.get(plain) ?? 0) + 1
    used.set(plain, times)
    questions.push({ title: times === 1 ? plain : `${plain} (${times})`, question: part })
  }
  return [...stages, { questions, next: undefined }]
}

export function titlesOf(scenario: Scenario): readonly string[] {
  return stagesOf(scenario).flatMap(({ questions }) => questions.map(({ title }) => title))
}

function titleOf(question: Question): string {
  switch (question.ask) {
    case 'rows':
      return 'status rows'
    case 'namespaces':
      return 'namespaces offered'
    case 'functions':
      return 'functions offered'
    case 'startups':
      return 'startups told'
    case 'selection':
      return 'selected'
    case 'reload':
      return 'reload'
    case 'select':
      return `select ${question.environments.join(', ') || 'none'}`
    case 'start':
      return `start with ${shown({ environments: question.environments, roots: question.roots })}`
    case 'call':
      return `model calls ${question.namespace} ${question.name} ${shown(question.arguments)}`.trim()
    case 'function':
      return `${question.name} ${typeof question.arguments === 'string' ? question.arguments : shown(question.arguments)}`
    case 'direct':
      return `client calls ${whom(question)} ${question.tool} ${shown(question.arguments)}`.trim()
    case 'read':
      return `client reads ${whom(question)} ${question.uri}`
  }
}

function whom({ server, environment }: { readonly server: string; readonly environment?: string }): string {
  return environment === undefined ? server : `${server} in ${shown(environment)}`
}

function shown(value: Json | undefined | object): string {
  return value === undefined ? '' : JSON.stringify(value).replace(/^"([\w.-]+)"$/, '$1')
}
