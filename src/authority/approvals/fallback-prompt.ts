import type { JsonObject } from '../../protocol/index.js'
import { ANSWER_LABELS } from './answer.js'
import { type PromptFacts, promptMessage, questionId } from './prompt.js'

/**
 * The same question for a host without elicitations: params of `item/tool/requestUserInput` (reference: authority, 3).
 * "Don't ask again" is not among its options.
 */
export function fallbackPromptParams(facts: PromptFacts): JsonObject {
  const session = facts.offers.includes('session')
  return {
    threadId: facts.threadId,
    turnId: facts.turnId,
    itemId: facts.callId,
    questions: [
      {
        id: questionId(facts.callId),
        header: 'Allow tool call?',
        question: promptMessage(facts),
        isOther: false,
        isSecret: false,
        options: [
          { label: ANSWER_LABELS.once, description: 'Run the tool this once.' },
          ...(session
            ? [{ label: ANSWER_LABELS.session, description: 'Run it, and ask no more in this session.' }]
            : []),
          { label: ANSWER_LABELS.cancel, description: 'Do not run the tool.' },
        ],
      },
    ],
    isBlocking: true,
    autoResolutionMs: null,
  }
}
