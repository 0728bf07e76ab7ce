import type { ApprovalSubject, DurableApprovals, RememberedApproval } from './memory.js'

/** Whoever runs this process: for whom a thread works where nobody says otherwise. */
export const LOCAL_PRINCIPAL = 'owner'

/** What one principal allowed, and nobody else's. */
export function approvalsOf(all: DurableApprovals, principal: string = LOCAL_PRINCIPAL): DurableApprovals {
  return {
    get: (subject: ApprovalSubject) => all.get(subject, principal),
    put: (approval: RememberedApproval) => all.put({ ...approval, principal }),
    list: () => all.list().filter((approval) => (approval.principal ?? LOCAL_PRINCIPAL) === principal),
    revoke: (subject: ApprovalSubject) => all.revoke(subject, principal),
  }
}
