import { expect, it } from 'vitest'
import { serverKey } from '../../identity/index.js'
import { unchangedTasks } from './names.js'
import { TaskOwners } from './task-owners.js'

it('knows no task that another principal was told of', () => {
  const key = serverKey('jobs')
  const owners = new TaskOwners()
  const [ann, bob] = ['ann', 'bob'].map((principal) => owners.names(unchangedTasks(key), principal))
  const again = owners.names(unchangedTasks(key), 'ann')
  ann?.nameOf({ key, id: '1' })
  expect(again.ownerOf('1')).toEqual({ key, id: '1' })
  expect(() => bob?.ownerOf('1')).toThrow('Unknown task')
  expect([again, bob].map((names) => names?.isForeign?.({ key, id: '1' }))).toEqual([false, true])
  expect(bob?.ownerOf('2')).toEqual({ key, id: '2' })
  // One of the same id at a server of his own.
  bob?.nameOf({ key, id: '1' })
  expect(bob?.ownerOf('1')).toEqual({ key, id: '1' })
  expect(ann?.ownerOf('1')).toEqual({ key, id: '1' })
})
