import '@/styles/index.css'
