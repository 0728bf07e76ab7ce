import { describe, expect, it } from 'vitest'
import { backendBase, hostedAppsUrl } from './hosted-url.js'

describe('where the hosted apps are', () => {
  it.each([
    ['https://chatgpt.com', 'https://chatgpt.com/backend-api/ps/mcp'],
    ['https://chatgpt.com///', 'https://chatgpt.com/backend-api/ps/mcp'],
    ['https://chatgpt.com/backend-api/', 'https://chatgpt.com/backend-api/ps/mcp'],
    ['https://chat.openai.com', 'https://chat.openai.com/backend-api/ps/mcp'],
    ['https://chatgpt-staging.com/backend-api/', 'https://chatgpt-staging.com/backend-api/ps/mcp'],
    ['http://localhost:8080', 'http://localhost:8080/api/codex/ps/mcp'],
    ['http://localhost:8080/api/codex', 'http://localhost:8080/api/codex/ps/mcp'],
    ['https://own.test/backend-api', 'https://own.test/backend-api/ps/mcp'],
  ])('follows from the base %s', (base, url) => {
    expect(hostedAppsUrl(base)).toBe(url)
  })

  it('is not looked for among a hundred thousand slashes for long', () => {
    const slashes = '/'.repeat(100_000)
    expect(backendBase(`https://own.test${slashes}x${slashes}`)).toBe(`https://own.test${slashes}x`)
  })
})
