// Types of AssemblyScript in the file that it shares with TypeScript.
declare type i32 = number
declare type u32 = number
