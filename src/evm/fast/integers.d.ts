// Declares AssemblyScript types for the file that both languages share.
declare type i32 = number
declare type u32 = number
