#!/usr/bin/env node
import * as nodeModule from 'node:module'

// Node 22.1 keeps compiled code on disk; everything else is imported after this, so that it profits.
const enableCompileCache: unknown = Reflect.get(nodeModule, 'enableCompileCache')
if (typeof enableCompileCache === 'function') enableCompileCache()

const { runProcess } = await import('./run-process.js')
await runProcess(process)
