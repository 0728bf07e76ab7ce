import type { Scenario } from '../scenario.js'
import { faults } from './faults.js'
import { names } from './names.js'
import { owners } from './owners.js'
import { selection } from './selection.js'
import { twoOwners } from './two-owners.js'

export const SCENARIOS: readonly Scenario[] = [twoOwners, ...owners, ...names, ...faults, ...selection]
