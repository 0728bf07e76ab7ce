import { z } from 'zod'

const Granular = z.object({
  sandbox_approval: z.boolean(),
  rules: z.boolean(),
  skill_approval: z.boolean(),
  request_permissions: z.boolean(),
  mcp_elicitations: z.boolean(),
})

/** An approval policy as cases write it. */
export const Policy = z.union([z.enum(['untrusted', 'on-request', 'never']), z.object({ granular: Granular })])
