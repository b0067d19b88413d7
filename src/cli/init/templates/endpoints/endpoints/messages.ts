import { defineEndpoint } from 'agent-workspace-emulator'

// Keep data in records(): all sandboxes share a variable of this file, and no reset clears it. Use at, newId() and chance()
// instead of Date.now, randomUUID and Math.random: a replay needs that.
const path = '/conversations/{conversation_id}/messages'

export default [
  defineEndpoint({
    method: 'POST',
    path,
    summary: 'Write a message',
    body: { type: 'object', properties: { text: { type: 'string', minLength: 1 } }, required: ['text'] },
    handle({ body, params, records, caller, at, refuse }) {
      const { conversation_id } = params
      const isThere = records('conversations')
        .visibleTo(caller)
        .some(({ id }) => id === conversation_id)
      if (!isThere) refuse(404, 'not_found', `There is no conversation with the id "${conversation_id}".`)
      // Facts for the emulator, as in fixtures; no response has them.
      const _emulator = { conversation_id, kind: 'user' }
      const message = records('messages').insert({ ...(body as object), created_at: at, _emulator })
      return { status: 201, body: message }
    },
  }),
  defineEndpoint({
    method: 'GET',
    path,
    summary: 'Read the messages of a conversation',
    handle({ params, records, list }) {
      const isOfIt = (message: { _emulator: { conversation_id: string } }) =>
        message._emulator.conversation_id === params.conversation_id
      return { body: list(records('messages').find(isOfIt)) }
    },
  }),
]
