// The same calls with the format's reference: node reference.mjs CORE FILE ADDRESS once|warm
import { pathToFileURL } from 'node:url'

const [ core, file, address, mode ] = process.argv.slice( 2 )
const { FlowMCP } = await import( pathToFileURL( core + '/src/v4/index.mjs' ) )
const { main, handlers } = await import( pathToFileURL( file ) )
const there = { ...main, root: address }
const handlerMap = handlers( { sharedLists: {}, libraries: {} } )
const call = async ( size ) => {
    const { struct, status, messages } = await FlowMCP.fetch( { main: there, handlerMap, userParams: { size }, serverParams: {}, routeName: 'listCoins' } )
    if( !( struct?.status ?? status ) ) { throw new Error( JSON.stringify( struct?.messages ?? messages ) ) }
}
const median = async ( n, size ) => {
    const all = []
    for( let i = 0; i < n / 10; i++ ) { await call( size ) }
    const before = process.cpuUsage()
    for( let i = 0; i < n; i++ ) {
        const begun = performance.now()
        await call( size )
        all.push( ( performance.now() - begun ) * 1000 )
    }
    const { user, system } = process.cpuUsage( before )
    all.sort( ( a, b ) => a - b )
    return [ all[ Math.floor( all.length / 2 ) ], ( user + system ) / n ]
}
const pair = async ( n ) => {
    const begun = performance.now()
    const one = async () => { for( let i = 0; i < n / 2; i++ ) { await call( 10_000 ) } }
    await Promise.all( [ one(), one() ] )
    return ( performance.now() - begun ) * 1000 / n
}
if( mode === 'once' ) { await call( 10_000 ) } else {
    const [ small, smallCPU ] = await median( 500, 10_000 )
    const both = await pair( 500 )
    const [ large, largeCPU ] = await median( 40, 1_000_000 )
    console.log( JSON.stringify( { small, smallCPU, pair: both, large, largeCPU, workerMB: 0 } ) )
}
process.exit( 0 )
