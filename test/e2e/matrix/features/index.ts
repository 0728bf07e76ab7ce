import type { Feature } from '../cell.js'
import { cancellation, listChanged, logging, progress, subscribe } from './notifications.js'
import {
  elicitationComplete,
  listOfTasks,
  logOutsideRequests,
  questionDuringCompletion,
  questionOutsideRequests,
  rootsChanged,
  structuredList,
  unknownNotification,
} from './of-one-era.js'
import { completion, prompts, resources, structuredOutput, templates, tools } from './offers.js'
import { elicitationForm, elicitationUrl, roots, sampling } from './questions.js'
import { tasks } from './tasks.js'
import { unknownCapability, unknownContentType } from './unknown.js'

/** The rows of the matrix, in their order. */
export const FEATURES: readonly Feature[] = [
  tools,
  structuredOutput,
  resources,
  templates,
  subscribe,
  prompts,
  completion,
  logging,
  progress,
  cancellation,
  sampling,
  roots,
  elicitationForm,
  elicitationUrl,
  tasks,
  listChanged,
  unknownContentType,
  unknownCapability,
  structuredList,
  questionOutsideRequests,
  questionDuringCompletion,
  logOutsideRequests,
  unknownNotification,
  elicitationComplete,
  rootsChanged,
  listOfTasks,
]
