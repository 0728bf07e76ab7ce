export type { BoundCall, ClientTasks, TaskHost } from './client-tasks.js'
export { LegacyClientTasks, rawTaskId } from './legacy-client-tasks.js'
export { LocalTask } from './local-task.js'
export { ModernClientTasks, requireTasks } from './modern-client-tasks.js'
export { type OwnedTask, qualifiedTasks, type TaskNames, unchangedTasks } from './names.js'
export { TaskOwners } from './task-owners.js'
export type { CallTracker } from './watched-tasks.js'
export {
  CORE_TASKS,
  isTerminal,
  mapRelatedTask,
  relatedTask,
  TASKS_EXTENSION,
  tasksFor,
  withTasksExtension,
} from './wire.js'
